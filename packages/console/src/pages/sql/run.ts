// Runs and cancels SQL queries.

import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ApiCall, call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import type { SqlNode } from '../../sql/node.ts';

interface SqlResponse {
  results: unknown[];
  columns: string[];
  types: [string, string][];
  /** Whether the query has further rows. Undefined for a query with LIMIT. */
  hasMore?: boolean;
  limit?: number;
  last_refresh: string;
}

export interface CompletedQuery {
  node: SqlNode;
  response: SqlResponse;
  milliseconds: number;
}

export const createRunCall = (projectId: number, { source }: SqlNode, refresh?: string): ApiCall => ({
  method: 'POST',
  path: `/api/projects/${projectId}/query`,
  body: { query: source, ...(refresh !== undefined && { refresh }) },
});

/** Runs one query at a time. Cancelling aborts the request, and the server then stops the query. */
export function useQueryRun() {
  const { id } = useProject();
  const [completed, setCompleted] = useState<CompletedQuery | null>(null);
  const [isCanceled, setCanceled] = useState(false);
  const request = useRef<AbortController>(null);
  const { mutate, reset, error, isPending } = useMutation({
    async mutationFn({ node, refresh }: { node: SqlNode; refresh: string }) {
      request.current?.abort();
      const own = new AbortController();
      request.current = own;
      const begin = performance.now();
      const response = await call<SqlResponse>(createRunCall(id, node, refresh), own.signal);
      return { node, response, milliseconds: performance.now() - begin };
    },
    onSuccess: setCompleted,
  });
  useEffect(() => () => request.current?.abort(), []);
  return {
    completed,
    error,
    isRunning: isPending,
    isCanceled,
    /** Runs a query. @param refresh `blocking` accepts a cached result, and `force_blocking` does not */
    run(node: SqlNode, refresh: 'blocking' | 'force_blocking') {
      setCanceled(false);
      mutate({ node, refresh });
    },
    cancel() {
      request.current?.abort();
      reset();
      setCanceled(true);
    },
  };
}
