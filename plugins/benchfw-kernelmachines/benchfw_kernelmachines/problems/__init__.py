"""Problems of kernel machines."""
