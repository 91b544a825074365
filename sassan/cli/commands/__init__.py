"""The commands, one module each: options in, a request to `sassan.app`, its result printed."""
