import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall, Dialog } from '../../../parts/dialog.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { explainError, QueryContent } from '../../../parts/states.tsx';
import { formatBetween, fromLocalTime, toLocalTime } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock, SuccessMessage } from '../block.tsx';
import { type Backfill, type BatchExport, exportsKey } from './export.ts';
import { findLastInterval, getLastDays } from './schedule.ts';
import { text } from './words.ts';

export function Backfills({ one, path }: { one: BatchExport; path: string }) {
  const { id: projectId, timezone } = useProject();
  const mayChange = useHasLevel(1);
  const [dialog, setDialog] = useState<'past' | 'call' | null>(null);
  const [cancelled, setCancelled] = useState<Backfill | null>(null);
  const key = exportsKey(projectId, one.id);
  const query = useOffsetPages<Backfill>([...key, 'backfills'], {
    path: `${path}/backfills`,
    every: (backfills) => (backfills.some(({ status }) => status === 'Running') ? 3000 : false),
  });
  const buttons = (
    <div className="form-buttons">
      <Button onPress={() => setDialog('call')}>{words.asApiCall}</Button>
      <Button isDisabled={!mayChange} onPress={() => setDialog('past')}>
        {text.past}
      </Button>
    </div>
  );
  return (
    <SettingsBlock title={text.backfills} buttons={buttons}>
      <QueryContent query={query} what={text.backfills}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className="quiet">{text.noBackfills}</p>
          ) : (
            <>
              <Table backfills={rows} onCancel={setCancelled} />
              <LoadMoreButton query={query} />
            </>
          )
        }
      </QueryContent>
      {dialog === 'past' && <BackfillDialog one={one} path={path} onClose={() => setDialog(null)} />}
      {dialog === 'call' && <AsApiCall request={{ path: `${path}/backfills` }} onClose={() => setDialog(null)} />}
      {cancelled && (
        <ConfirmationDialog
          title={text.cancelBackfillTitle}
          verb={text.cancelBackfillVerb}
          onClose={() => setCancelled(null)}
          act={async () => {
            await call({ method: 'POST', path: `${path}/backfills/${encodeURIComponent(cancelled.id)}/cancel` });
            await queryClient.invalidateQueries({ queryKey: key });
          }}
        >
          {formatBetween(cancelled.start_at, cancelled.end_at, timezone)}. {text.cancelBackfillText}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}

const looks: Record<Backfill['status'], string> = {
  Running: 'pill',
  Completed: 'pill pill-good',
  Failed: 'pill pill-bad',
  Cancelled: 'pill',
};

function Table({ backfills, onCancel }: { backfills: readonly Backfill[]; onCancel: (backfill: Backfill) => void }) {
  const { timezone } = useProject();
  const mayChange = useHasLevel(1);
  const columns = text.backfillColumns;
  return (
    <table className="table settings-table" aria-label={text.backfills}>
      <thead>
        <tr>
          <th>{columns.state}</th>
          <th>{columns.span}</th>
          <th className="number">{columns.progress}</th>
          <th>{columns.when}</th>
          <th>
            <span className="only-heard">{columns.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {backfills.map((backfill) => {
          const span = formatBetween(backfill.start_at, backfill.end_at, timezone);
          const { total_runs: total, finished_runs: finished } = backfill.progress;
          return (
            <tr key={backfill.id}>
              <td>
                <span className={looks[backfill.status]}>
                  <span className="dot" />
                  {text.backfillStates[backfill.status]}
                </span>
              </td>
              <td>{span}</td>
              <td className="number" data-label={columns.progress}>
                {text.progress(finished, total)}
              </td>
              <td data-label={columns.when}>{formatAgo(backfill.created_at)}</td>
              <td className="settings-actions">
                {backfill.status === 'Running' && (
                  <Button
                    isDisabled={!mayChange}
                    aria-label={text.cancelBackfillOf(span)}
                    onPress={() => onCancel(backfill)}
                  >
                    {text.cancelBackfill}
                  </Button>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface Preview {
  total_runs: number;
  first_run: { start_at: string; end_at: string };
  last_run: { start_at: string; end_at: string };
}

/**
 * A dialog that previews and starts a backfill for a time range.
 * @param isTrial whether to preselect the latest completed interval
 */
export function BackfillDialog({
  one,
  path,
  isTrial = false,
  onClose,
}: {
  one: BatchExport;
  path: string;
  isTrial?: boolean;
  onClose: () => void;
}) {
  const { id: projectId } = useProject();
  const [{ start, end }, setSpan] = useState(() => findLastInterval(one));
  const key = exportsKey(projectId, one.id);
  const range = { start_at: start, end_at: end };
  const preview = useQuery({
    queryKey: [...key, 'preview', range],
    queryFn: ({ signal }) => call<Preview>({ path: `${path}/backfill`, query: range }, signal),
    enabled: start !== '' && end !== '',
    retry: false,
  });
  const begin = useMutation({
    mutationFn: () => call({ method: 'POST', path: `${path}/backfill`, body: range }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: key }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  const runs = preview.data?.total_runs ?? 0;
  return (
    <Dialog title={isTrial ? text.tryTitle : text.pastTitle} onClose={onClose}>
      <p className="quiet">{isTrial ? text.tryText(one.interval) : text.pastText[one.destination.type]}</p>
      {one.model === 'persons' && <p className="note">{text.personsHint}</p>}
      {begin.isSuccess ? (
        <div className="form-buttons">
          <SuccessMessage>{text.started(runs)}</SuccessMessage>
          <Button look="main" autoFocus onPress={onClose}>
            {words.close}
          </Button>
        </div>
      ) : (
        <form className="form" onSubmit={submit}>
          {!isTrial && <SpanFields one={one} start={start} end={end} onSpan={setSpan} />}
          <div className="note" aria-live="polite">
            {preview.error ? (
              <span className="bad">{explainError(preview.error)}</span>
            ) : preview.data ? (
              <PreviewText preview={preview.data} one={one} />
            ) : (
              <span className="quiet">{text.counting}</span>
            )}
          </div>
          <FormProblem problem={begin.error} fields={[]} />
          <div className="form-buttons">
            <Button type="submit" look="main" isDisabled={!preview.data || begin.isPending}>
              {text.start(runs)}
            </Button>
            <Button onPress={onClose}>{words.cancel}</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function PreviewText({
  preview: { total_runs: runs, first_run, last_run },
  one,
}: {
  preview: Preview;
  one: BatchExport;
}) {
  const { timezone } = useProject();
  const span = ({ start_at, end_at }: Preview['first_run']) => formatBetween(start_at, end_at, timezone);
  return (
    <>
      <strong>{text.preview(runs, one.interval)}</strong>
      <p>{runs === 1 ? text.covers(span(first_run)) : text.firstAndLast(span(first_run), span(last_run))}</p>
    </>
  );
}

function SpanFields({
  one,
  start,
  end,
  onSpan,
}: {
  one: BatchExport;
  start: string;
  end: string;
  onSpan: (span: { start: string; end: string }) => void;
}) {
  const { timezone } = useProject();
  const { interval } = one;
  const local = (time: string) => (time === '' ? '' : toLocalTime(new Date(time), timezone));
  const field = (label: string, value: string, set: (time: string) => void) => (
    <label className="field">
      <span className="field-label">{label}</span>
      <input
        className="input"
        type="datetime-local"
        required
        value={local(value).slice(0, 16)}
        onChange={({ target }) => set(target.value === '' ? '' : fromLocalTime(target.value, timezone))}
      />
    </label>
  );
  return (
    <>
      <div className="form-buttons">
        <Button onPress={() => onSpan(findLastInterval(one))}>{text.lastInterval(interval)}</Button>
        {interval !== 'day' && <Button onPress={() => onSpan(getLastDays(1, timezone))}>{text.yesterday}</Button>}
        {interval !== 'week' && <Button onPress={() => onSpan(getLastDays(7, timezone))}>{text.lastWeek}</Button>}
      </div>
      <div className="settings-pair">
        {field(text.from, start, (next) => onSpan({ start: next, end }))}
        {field(text.to, end, (next) => onSpan({ start, end: next }))}
      </div>
      <p className="hint">{text.zone(timezone)}</p>
    </>
  );
}
