// Runs event queries in ClickHouse, with its settings and limits, and translates parameters and errors.

import { randomUUID } from 'node:crypto';
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from '@clickhouse/client';
import { AppError } from '@millrace/runtime';
import type { Engine } from '../engine.ts';
import { OverBudget } from '../port.ts';
import { renderFragment, type Value, type ValueType } from '../sql.ts';
import { clickhouseDialect } from './dialect.ts';

const types: Record<ValueType, string> = {
  text: 'String',
  texts: 'Array(String)',
  int: 'Int32',
  ints: 'Array(Int32)',
  long: 'Int64',
  float: 'Float64',
  floats: 'Array(Float64)',
  time: 'Int64',
  times: 'Array(Int64)',
  date: 'Date32',
  uuid: 'UUID',
  uuids: 'Array(UUID)',
};

/** Settings that make results equal to PostgreSQL's, and that limit a query's cost. */
const settings = {
  // Removes duplicates from an events table that ClickHouse fills from Kafka. Such a table may contain an event twice.
  final: 1,
  do_not_merge_across_partitions_select_final: 1,
  // All copies of an event have the same distinct ID, person and storage time, so a skip index matches either all or
  // none of them.
  use_skip_indexes_if_final_exact_mode: 0,
  join_use_nulls: 1,
  aggregate_functions_null_for_empty: 1,
  prefer_column_name_to_alias: 1,
  precise_float_parsing: 1,
  external_table_functions_use_nulls: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'iso',
  max_memory_usage: '2000000000',
  max_bytes_before_external_group_by: '1000000000',
  max_bytes_before_external_sort: '1000000000',
  timeout_overflow_mode: 'throw',
  // If a query fails while its rows are being sent, ClickHouse returns an error instead of an incomplete list.
  http_write_exception_in_output_format: 0,
  cancel_http_readonly_queries_on_client_close: 1,
} as const;

/**
 * ClickHouse error codes for a query that is too slow, is estimated to be too slow, needs too much memory, or reads too
 * many rows or bytes.
 */
const limits: Record<string, OverBudget['limit']> = {
  '159': 'time',
  '160': 'time',
  '241': 'memory',
  '158': 'bytes',
  '307': 'bytes',
  '396': 'bytes',
};

/**
 * ClickHouse 26 cannot plan some outer joins whose key is a constant in a subquery that also has a join. ClickHouse
 * reports the error before it reads any rows, and these settings avoid the error. Other versions may not know the
 * settings.
 */
const undeterminedJoin = '403';
const settingsForConstantKeys = { query_plan_merge_expression_into_join: 0 };

/** Creates the engine that runs queries in ClickHouse. @param client the connection of a read-only user */
export function createClickHouseEngine(client: ClickHouseClient): Engine {
  return {
    dialect: clickhouseDialect,
    async read(query, { signal, maxMs, maxBytes }, each) {
      signal.throwIfAborted();
      const { text, values } = renderFragment(query, formatParameter);
      const controller = new AbortController();
      let over: OverBudget | null = null;
      const stop = (limit: OverBudget['limit']) => {
        over ??= new OverBudget(limit);
        controller.abort();
      };
      const onAbort = () => controller.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => stop('time'), maxMs);
      try {
        const send = (more: ClickHouseSettings) =>
          client.query({
            query: text,
            query_params: Object.fromEntries(values.map(({ value }, at) => [`p${at + 1}`, value])),
            format: 'JSONCompactEachRow',
            query_id: randomUUID(),
            abort_signal: controller.signal,
            clickhouse_settings: { ...settings, ...more, max_execution_time: Math.ceil(maxMs / 1000) },
          });
        const result = await send({}).catch((error: unknown) => {
          if (!(error instanceof ClickHouseError) || error.code !== undeterminedJoin) throw error;
          return send(settingsForConstantKeys);
        });
        let bytes = 0;
        for await (const rows of result.stream<unknown[]>()) {
          for (const row of rows) {
            bytes += row.text.length;
            if (bytes > maxBytes) stop('bytes');
            if (over !== null) throw over;
            each(row.json());
          }
        }
        if (over !== null) throw over;
      } catch (error) {
        signal.throwIfAborted();
        if (over !== null) throw over;
        const limit = error instanceof ClickHouseError ? limits[error.code] : undefined;
        if (limit !== undefined) throw new OverBudget(limit, { cause: error });
        throw toUnavailable(error);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

/** The query is valid, so clients can retry it. */
function toUnavailable(cause: unknown): AppError {
  const why = cause instanceof ClickHouseError ? `could not run the query (code ${cause.code})` : 'does not respond';
  return new AppError('unavailable', `ClickHouse ${why}. Try again in a few seconds.`, {
    code: 'event_store_unavailable',
    retryAfterSeconds: 5,
    cause,
  });
}

/**
 * Formats a parameter. A single time becomes a DateTime. A list of times stays in milliseconds, because queries compare
 * it with milliseconds to find intervals.
 */
function formatParameter({ type }: Value, position: number): string {
  const parameter = `{p${position}:${types[type]}}`;
  if (type === 'time') return `fromUnixTimestamp64Milli(${parameter}, 'UTC')`;
  return parameter;
}
