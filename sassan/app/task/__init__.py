"""Tasks: a recorded sequence of launches that has a deadline: response time, what it rests on, a certificate."""
