"""Facts in sentences, for someone who was just woken up; nothing else words a verdict. Pure."""
