# docker build -t benchfw . && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" benchfw run quickstart
FROM python:3.13-slim AS developer
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make npm \
    && rm -rf /var/lib/apt/lists/*

FROM developer AS build
COPY . /source
RUN pip install --no-cache-dir build \
    && for package in /source /source/plugins/benchfw-*; do python -m build --outdir /wheels "$package" || exit 1; done

FROM python:3.13-slim
COPY --from=build /wheels /wheels
# the wheels by their files: by name, pip would take a newer release from the index
RUN pip install --no-cache-dir "$(ls /wheels/benchfw-*.whl)[report,paper]" /wheels/benchfw_*.whl && rm -rf /wheels
# any user may run it: whoever owns the folder that is mounted as /work
RUN useradd --create-home benchfw && chmod a+rwx /home/benchfw && mkdir --mode=a+rwx /work
ENV HOME=/home/benchfw
USER benchfw
WORKDIR /work
ENTRYPOINT ["benchfw"]
CMD ["--help"]
