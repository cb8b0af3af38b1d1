import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { call, readCursor } from '../../../api/request.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall } from '../../../parts/dialog.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { resolveZone, SpanMenu } from '../../../parts/span.tsx';
import { EmptyState, explainError, QueryContent } from '../../../parts/states.tsx';
import { formatBetween, formatMinute } from '../../../parts/time.ts';
import { formatNumber, words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { type BatchExport, type ExportsUrlState, exportsKey, isOpen, type Run } from './export.ts';
import { BackfillDialog } from './past.tsx';
import { findErrorAdvice, text } from './words.ts';

const spans = ['-24h', '-7d', '-30d', '-90d'];

interface RunPage {
  results: Run[];
  next: string | null;
}

/** Lists an export's runs in a time range, newest first. A failed run shows its error with advice. */
export function ExportRuns({
  one,
  path,
  view,
  change,
}: {
  one: BatchExport;
  path: string;
  view: ExportsUrlState['view'];
  change: ExportsUrlState['change'];
}) {
  const { id: projectId, timezone } = useProject();
  const mayChange = useHasLevel(1);
  const [dialog, setDialog] = useState<'try' | 'call' | null>(null);
  const zone = resolveZone(view.zone, timezone);
  const span = { after: view.after, before: view.before };
  const query = useInfiniteQuery({
    queryKey: [...exportsKey(projectId, one.id), 'runs', span],
    queryFn: ({ pageParam, signal }) =>
      call<RunPage>({ path: `${path}/runs`, query: { ...span, limit: 50, cursor: pageParam } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
    // Reload the list periodically, because a requested run appears only after the worker has created it.
    refetchInterval: ({ state }) => (state.data?.pages.some(({ results }) => results.some(isOpen)) ? 3000 : 15_000),
  });
  return (
    <SettingsBlock
      title={text.runs}
      about={text.runsText}
      buttons={
        <div className="form-buttons">
          <SpanMenu
            span={span}
            zone={view.zone}
            zoneOfProject={timezone}
            presets={spans}
            onSpan={change}
            onZone={(next) => change({ zone: next })}
          />
          <Button onPress={() => setDialog('call')}>{words.asApiCall}</Button>
          <Button isDisabled={!mayChange} onPress={() => setDialog('try')}>
            {text.tryNow}
          </Button>
        </div>
      }
    >
      <QueryContent query={query} what={text.runs}>
        {({ pages }) => {
          const runs = pages.flatMap(({ results }) => results);
          if (runs.length === 0) return <NoRun hasRun={one.latest_runs.length > 0} />;
          return (
            <>
              <Table runs={runs} one={one} path={path} zone={zone} />
              <LoadMoreButton query={query} />
            </>
          );
        }}
      </QueryContent>
      {dialog === 'try' && <BackfillDialog one={one} path={path} isTrial onClose={() => setDialog(null)} />}
      {dialog === 'call' && (
        <AsApiCall request={{ path: `${path}/runs`, query: span }} onClose={() => setDialog(null)} />
      )}
    </SettingsBlock>
  );
}

function NoRun({ hasRun }: { hasRun: boolean }) {
  return (
    <EmptyState title={text.noRunsTitle} icon="exports">
      <p className="quiet">{hasRun ? text.noRunsNarrow : text.noRuns}</p>
    </EmptyState>
  );
}

function Table({ runs, one, path, zone }: { runs: readonly Run[]; one: BatchExport; path: string; zone: string }) {
  const { id: projectId } = useProject();
  const [runToCancel, setRunToCancel] = useState<Run | null>(null);
  const refresh = () => queryClient.invalidateQueries({ queryKey: exportsKey(projectId, one.id) });
  const retry = useMutation({
    mutationFn: ({ id }: Run) => call({ method: 'POST', path: `${path}/runs/${id}/retry` }),
    onSuccess: refresh,
  });
  return (
    <>
      <p role="status" className={retry.error ? 'bad' : 'good'}>
        {retry.error ? explainError(retry.error) : retry.isSuccess ? text.retried : null}
      </p>
      <table className="table settings-table" aria-label={text.runs}>
        <thead>
          <tr>
            <th>{text.runColumns.state}</th>
            <th>{text.runColumns.span}</th>
            <th className="number">{text.runColumns.rows}</th>
            <th className="number">{text.runColumns.bytes}</th>
            <th>{text.runColumns.when}</th>
            <th>
              <span className="only-heard">{text.runColumns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row
              key={run.id}
              run={run}
              isFile={one.destination.type === 'S3'}
              zone={zone}
              isRetrying={retry.isPending}
              onRetry={() => retry.mutate(run)}
              onCancel={() => setRunToCancel(run)}
            />
          ))}
        </tbody>
      </table>
      {runToCancel && (
        <ConfirmationDialog
          title={text.cancelTitle}
          verb={text.cancelVerb}
          onClose={() => setRunToCancel(null)}
          act={async () => {
            await call({ method: 'POST', path: `${path}/runs/${runToCancel.id}/cancel` });
            await refresh();
          }}
        >
          {text.cancelText(formatBetween(runToCancel.data_interval_start, runToCancel.data_interval_end, zone))}
        </ConfirmationDialog>
      )}
    </>
  );
}

const looks: Record<Run['status'], string> = {
  Starting: 'pill',
  Running: 'pill',
  Completed: 'pill pill-good',
  Failed: 'pill pill-bad',
  FailedRetryable: 'pill pill-warn',
  Cancelled: 'pill',
};

interface RowProps {
  run: Run;
  isFile: boolean;
  zone: string;
  isRetrying: boolean;
  onRetry: () => void;
  onCancel: () => void;
}

function Row({ run, isFile, zone, isRetrying, onRetry, onCancel }: RowProps) {
  const mayChange = useHasLevel(1);
  const span = formatBetween(run.data_interval_start, run.data_interval_end, zone);
  const { records_completed: records, bytes_exported: bytes } = run;
  const isDone = run.status === 'Completed';
  const isCounted = records !== null && (isDone || isOpen(run));
  const again = isDone ? text.runAgain : text.retry;
  return (
    <tr>
      <td>
        <span className={looks[run.status]}>
          <span className="dot" />
          {text.runStates[run.status]}
        </span>
      </td>
      <td>
        {span} {run.backfill !== null && <span className="hint">{text.ofBackfill}</span>}
        {isDone && records === 0 && <div className="hint">{isFile ? text.emptyObject : text.emptyRun}</div>}
        {!isDone && run.latest_error !== null && <Reason error={run.latest_error} />}
      </td>
      <td className={isCounted ? 'number' : 'number settings-wide'} data-label={text.runColumns.rows}>
        {isCounted ? formatNumber(records ?? 0) : text.none}
      </td>
      <td className={bytes === null ? 'number settings-wide' : 'number'} data-label={text.runColumns.bytes}>
        {bytes === null ? text.none : text.bytes(bytes)}
      </td>
      <td data-label={text.runColumns.when}>
        <time dateTime={run.created_at} title={formatMinute(run.created_at, zone)}>
          {formatAgo(run.created_at)}
        </time>
        {run.finished_at !== null && isDone && (
          <div className="hint">{text.took(secondsBetween(run.created_at, run.finished_at))}</div>
        )}
      </td>
      <td className="settings-actions">
        {isOpen(run) ? (
          <Button isDisabled={!mayChange} aria-label={text.ofSpan(text.cancelRun, span)} onPress={onCancel}>
            {text.cancelRun}
          </Button>
        ) : (
          <Button isDisabled={!mayChange || isRetrying} aria-label={text.ofSpan(again, span)} onPress={onRetry}>
            {again}
          </Button>
        )}
      </td>
    </tr>
  );
}

const secondsBetween = (from: string, to: string) =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));

function Reason({ error }: { error: string }) {
  return (
    <div className="settings-reason">
      <p>{findErrorAdvice(error, codeOf(error))}</p>
      <p className="quiet settings-response">
        {text.theySaid}: <code>{error}</code>
      </p>
    </div>
  );
}

/**
 * Extracts the error code from messages such as `failed: 28P01 (wrong user or password).`, `failed: NoSuchBucket
 * (404).` and `failed: ENOTFOUND.`
 */
const codeOf = (error: string) => /failed: (.+?)(?: \(|\.$)/.exec(error)?.[1] ?? '';
