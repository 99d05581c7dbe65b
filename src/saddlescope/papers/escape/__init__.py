"""How a deep ReLU net leaves the saddle at the origin. Its experiments have their place here."""
