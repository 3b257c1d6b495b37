"""Studio for teaching agents in the browser, and HTTP service for trained models."""
