"""Training of a dense retriever: pairs of query and document, and the fine-tuning on them."""
