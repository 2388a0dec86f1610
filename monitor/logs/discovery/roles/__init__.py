"""What columns of samples may be: their roles, keys and arrivals, measured on rows of both logs."""
