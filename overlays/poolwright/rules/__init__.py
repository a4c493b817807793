"""What plain Kubernetes objects may not say about devices, whoever wrote them."""
