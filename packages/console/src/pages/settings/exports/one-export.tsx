import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useFilterLines } from '../../../filters/filter-list.tsx';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall, Dialog } from '../../../parts/dialog.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatMinute } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { destinationSettings } from './destinations.ts';
import {
  type BatchExport,
  type ExportState,
  type ExportsUrlState,
  exportsKey,
  toExportState,
  useExportsPath,
} from './export.ts';
import { ExportForm } from './export-form.tsx';
import { Backfills } from './past.tsx';
import { ExportRuns } from './runs.tsx';
import { hasDays } from './schedule.ts';
import { text } from './words.ts';

/** A batch export's settings, status, runs and backfills. */
export function OneExport({ id, address: { view, change } }: { id: string; address: ExportsUrlState }) {
  const { id: projectId } = useProject();
  const path = `${useExportsPath()}/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: exportsKey(projectId, id),
    queryFn: ({ signal }) => call<BatchExport>({ path }, signal),
  });
  const refresh = () => queryClient.invalidateQueries({ queryKey: exportsKey(projectId) });
  const close = () => change({ open: '', edit: false });
  return (
    <>
      <div className="form-buttons">
        <Button look="plain" autoFocus onPress={close}>
          ← {text.all}
        </Button>
      </div>
      <QueryContent query={query} what={text.one}>
        {(one) =>
          view.edit ? (
            <ExportForm
              before={one}
              onDone={async () => {
                await refresh();
                change({ edit: false });
              }}
              onClose={() => change({ edit: false })}
            />
          ) : (
            <>
              <Head one={one} path={path} refresh={refresh} onEdit={() => change({ edit: true })} onDeleted={close} />
              <ExportRuns one={one} path={path} view={view} change={change} />
              <Backfills one={one} path={path} />
            </>
          )
        }
      </QueryContent>
    </>
  );
}

interface HeadProps {
  one: BatchExport;
  path: string;
  refresh: () => Promise<void>;
  onEdit: () => void;
  onDeleted: () => void;
}

function Head({ one, path, refresh, onEdit, onDeleted }: HeadProps) {
  const mayChange = useHasLevel(1);
  const { timezone } = useProject();
  const [dialog, setDialog] = useState<'call' | 'delete' | 'unpause' | null>(null);
  const close = () => setDialog(null);
  const pause = useMutation({
    mutationFn: () => call({ method: 'POST', path: `${path}/pause`, body: {} }),
    onSuccess: refresh,
  });
  const buttons = (
    <div className="form-buttons">
      <Button onPress={() => setDialog('call')}>{words.asApiCall}</Button>
      {one.paused ? (
        <Button look="main" isDisabled={!mayChange} onPress={() => setDialog('unpause')}>
          {text.unpause}
        </Button>
      ) : (
        <Button isDisabled={!mayChange || pause.isPending} onPress={() => pause.mutate()}>
          {text.pause}
        </Button>
      )}
      <Button isDisabled={!mayChange} onPress={onEdit}>
        {text.change}
      </Button>
      <Button look="danger" isDisabled={!mayChange} onPress={() => setDialog('delete')}>
        {text.delete}
      </Button>
    </div>
  );
  const about = (
    <>
      <StatePill state={toExportState(one)} />{' '}
      {text.sentence(one.model, text.types[one.destination.type], describeDestination(one), one.interval)}
    </>
  );
  return (
    <SettingsBlock title={one.name} about={about} buttons={buttons}>
      {!mayChange && <p className="note">{text.mayNot}</p>}
      <FormProblem problem={pause.error} fields={[]} />
      {one.paused && one.last_paused_at && (
        <p className="note">{text.pausedSince(formatMinute(one.last_paused_at, timezone))}</p>
      )}
      {one.filters !== null && one.filters.length > 0 && <Filters filters={one.filters} />}
      <AllSettings one={one} />
      {dialog === 'call' && <AsApiCall request={{ path }} onClose={close} />}
      {dialog === 'unpause' && <Unpause one={one} path={path} refresh={refresh} onClose={close} />}
      {dialog === 'delete' && (
        <ConfirmationDialog
          title={text.deleteTitle(one.name)}
          verb={text.delete}
          onClose={close}
          act={async () => {
            await call({ method: 'DELETE', path });
            onDeleted();
            await refresh();
          }}
        >
          {text.deleteText}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}

function Filters({ filters }: { filters: readonly unknown[] }) {
  const lineOf = useFilterLines(filters);
  return (
    <div>
      <p>{text.onlyEvents}</p>
      <ul className="export-filters">
        {filters.map((filter, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a filter has no ID other than its index
          <li key={at}>{lineOf(filter)}</li>
        ))}
      </ul>
    </div>
  );
}

function AllSettings({ one }: { one: BatchExport }) {
  const { timezone } = useProject();
  const { type, config } = one.destination;
  const { labels } = text.form;
  const facts: [string, ReactNode][] = [
    ...(hasDays(one.interval) ? [[text.begins, text.beginning(one)] satisfies [string, ReactNode]] : []),
    ...destinationSettings[type]
      .filter(({ name }) => config[name] !== undefined && config[name] !== '')
      .map(({ name }): [string, ReactNode] => [labels[name] ?? name, <code key={name}>{shown(config[name])}</code>]),
    ...(
      [
        [text.from, one.start_at],
        [text.until, one.end_at],
        [text.made, one.created_at],
      ] as const
    )
      .filter(([, time]) => time !== null)
      .map(([label, time]): [string, ReactNode] => [label, formatMinute(time ?? '', timezone)]),
  ];
  return (
    <details className="export-settings">
      <summary>{text.settings}</summary>
      <dl className="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const shown = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value));

/** A button that resumes an export. After resuming, the user can backfill the missed intervals. */
function Unpause({
  one,
  path,
  refresh,
  onClose,
}: {
  one: BatchExport;
  path: string;
  refresh: () => Promise<void>;
  onClose: () => void;
}) {
  const { timezone } = useProject();
  const [withMissed, setWithMissed] = useState(one.last_paused_at !== null);
  const unpause = useMutation({
    mutationFn: () => call({ method: 'POST', path: `${path}/unpause`, body: { backfill: withMissed } }),
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  });
  return (
    <Dialog title={text.unpauseTitle(one.name)} onClose={onClose}>
      <p className="quiet">{text.unpauseText}</p>
      {one.last_paused_at && (
        <label className="settings-choice">
          <input type="checkbox" checked={withMissed} onChange={({ target }) => setWithMissed(target.checked)} />
          {text.missed(formatMinute(one.last_paused_at, timezone))}
        </label>
      )}
      <FormProblem problem={unpause.error} fields={[]} />
      <div className="form-buttons">
        <Button look="main" isDisabled={unpause.isPending} onPress={() => unpause.mutate()}>
          {text.unpause}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}

const looks: Record<ExportState, string> = {
  working: 'pill pill-good',
  running: 'pill',
  new: 'pill',
  ended: 'pill',
  paused: 'pill pill-warn',
  retrying: 'pill pill-warn',
  failed: 'pill pill-bad',
};

export function StatePill({ state }: { state: ExportState }) {
  return (
    <span className={looks[state]}>
      <span className="dot" />
      {text.states[state]}
    </span>
  );
}

export function describeDestination({ model, destination: { type, config } }: BatchExport): string {
  if (type === 'S3') return [config.bucket_name, config.prefix].filter(Boolean).join('/');
  const schema = config.schema === undefined || config.schema === '' ? '' : `${config.schema}.`;
  return text.table(schema + String(config.table_name ?? model), String(config.database), String(config.host));
}
