"""One description of a result: a field is declared once, and stands in JSON, CSV, tables, schemas, the reference and the library.

`field` has fields, records and what is written of them; `kinds` what a field holds; `schema` the JSON schema of a record.
"""
