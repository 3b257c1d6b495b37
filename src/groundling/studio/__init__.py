"""The studio: teach an agent in the browser, and serve it over HTTP."""
