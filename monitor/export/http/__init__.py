"""The exporter's HTTP server: requests, authentication, answers."""
