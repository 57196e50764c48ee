"""Problems of variational inference."""
