"""Answers SQL over a fleet's data set: `fleet.py chdb|spark ROOT`, queries as JSON on standard input, rows as JSON on standard output."""
import json
import os
import re
import sys

engine, root = sys.argv[1], os.path.abspath(sys.argv[2])
queries = json.load(sys.stdin)


def chdb_rows():
    import chdb

    def rows(sql):
        text = str(chdb.query(sql, "JSONCompactEachRow"))
        return [json.loads(line) for line in text.splitlines()]

    return rows, lambda table: f"file('{root}/{table}/*/*.parquet')"


def spark_rows():
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    # a driver and two executors, each in a separate process
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    for table in sorted(set(re.findall(r"fleet\.(\w+)", " ".join(queries)))):
        spark.read.parquet(f"{root}/{table}").createOrReplaceTempView(table)
    return lambda sql: [list(map(plain, row)) for row in spark.sql(sql).collect()], lambda table: table


def plain(value):
    return value if isinstance(value, (int, float, str, type(None))) else float(value)


rows, table = {"chdb": chdb_rows, "spark": spark_rows}[engine]()
answers = []
for sql in queries:
    for name in sorted({word[6:] for word in sql.replace("(", " ").split() if word.startswith("fleet.")}):
        sql = sql.replace(f"fleet.{name} ", f"{table(name)} ")
    answers.append(rows(sql))
print("\n" + json.dumps(answers))
