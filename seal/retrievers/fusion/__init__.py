"""Several retrievers as one: by the weighted cosine of their vectors, or by their rankings."""
