"""A run in the forms that other tools read: Bencher, github-action-benchmark, COCO, a pull request."""
