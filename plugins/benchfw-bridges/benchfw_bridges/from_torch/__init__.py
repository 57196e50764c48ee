"""PyTorch: a backend on the CPU and one on a GPU, the optimizers of torch.optim, and modules as problems."""
