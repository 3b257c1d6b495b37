"""Studio for teaching agents in the browser, and an HTTP service for trained models."""
