"""Studio for teaching an agent in the browser, and an HTTP service for trained agents."""
