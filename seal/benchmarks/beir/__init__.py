"""Retrieval sets in BEIR's and ToolRet's layouts."""
