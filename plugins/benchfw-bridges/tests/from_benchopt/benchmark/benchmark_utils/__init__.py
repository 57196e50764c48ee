"""What the parts of this benchmark share."""


def ridge_value(X, y, weight, w):
    """Return half the squared residual plus the ridge."""
    residual = X @ w - y
    return 0.5 * (residual @ residual) + 0.5 * weight * (w @ w)
