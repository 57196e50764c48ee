"""scikit-learn: estimators as optimizers, scorers as metrics."""
