// The settings section where users set up batch exports, which copy events to other systems, and check their runs.

import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall } from '../../../parts/dialog.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatMinute } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { EmptyList, takeFocus, useLastOpen } from '../lists.tsx';
import { type DestinationType, destinationTypes } from './destinations.ts';
import {
  type BatchExport,
  exportsKey,
  isOpen,
  type Run,
  toExportState,
  useExportsPath,
  useExportsUrlState,
} from './export.ts';
import { ExportForm } from './export-form.tsx';
import { describeDestination, OneExport, StatePill } from './one-export.tsx';
import { text } from './words.ts';
import './exports.css';

export function ExportsSection() {
  const address = useExportsUrlState();
  const {
    view: { open, type },
    change,
    unknown,
  } = address;
  const last = useLastOpen(open);
  return (
    <>
      <AddressHint unknown={unknown} />
      {open === '' && <List last={last} onOpen={(id, kind) => change({ open: id, type: kind ?? '' })} />}
      {open === 'new' && (
        <ExportForm
          before={undefined}
          type={type === '' ? undefined : type}
          onDone={({ id }) => change({ open: id, type: '' })}
          onClose={() => change({ open: '', type: '' })}
        />
      )}
      {open !== '' && open !== 'new' && <OneExport key={open} id={open} address={address} />}
    </>
  );
}

function List({ last, onOpen }: { last: string; onOpen: (id: string, type?: DestinationType) => void }) {
  const { id: projectId } = useProject();
  const mayChange = useHasLevel(1);
  const path = useExportsPath();
  const [isShowingCall, setShowingCall] = useState(false);
  const query = useOffsetPages<BatchExport>(exportsKey(projectId), {
    path,
    every: (exports) => (exports.some(({ latest_runs: [last] }) => last && isOpen(last)) ? 5000 : false),
  });
  const buttons = (
    <>
      <Button onPress={() => setShowingCall(true)}>{words.asApiCall}</Button>
      <Button look="main" isDisabled={!mayChange} onPress={() => onOpen('new')}>
        {text.newExport}
      </Button>
    </>
  );
  return (
    <SettingsBlock title={text.what} about={text.about} buttons={buttons}>
      {!mayChange && <p className="note">{text.mayNot}</p>}
      <QueryContent query={query} what={text.what}>
        {({ rows }) =>
          rows.length === 0 ? (
            <NoExport mayChange={mayChange} onChoose={(type) => onOpen('new', type)} />
          ) : (
            <>
              <Table exports={rows} last={last} onOpen={onOpen} />
              <LoadMoreButton query={query} />
            </>
          )
        }
      </QueryContent>
      {isShowingCall && <AsApiCall request={{ path }} onClose={() => setShowingCall(false)} />}
    </SettingsBlock>
  );
}

function NoExport({ mayChange, onChoose }: { mayChange: boolean; onChoose: (type: DestinationType) => void }) {
  const kinds = destinationTypes.map((type) => ({ kind: type, name: text.types[type], needs: text.needs[type] }));
  return (
    <EmptyList
      title={text.emptyTitle}
      icon="exports"
      about={text.empty}
      kinds={kinds}
      isDisabled={!mayChange}
      onChoose={onChoose}
    />
  );
}

function Table({
  exports,
  last,
  onOpen,
}: {
  exports: readonly BatchExport[];
  last: string;
  onOpen: (id: string) => void;
}) {
  return (
    <table className="table settings-table settings-rows" aria-label={text.what}>
      <thead>
        <tr>
          <th>{text.columns.name}</th>
          <th>{text.columns.where}</th>
          <th>{text.columns.every}</th>
          <th>{text.columns.state}</th>
          <th>{text.columns.last}</th>
        </tr>
      </thead>
      <tbody>
        {exports.map((one) => (
          <tr key={one.id}>
            <td>
              <button
                type="button"
                className="settings-row-link row-link"
                ref={one.id === last ? takeFocus : undefined}
                onClick={() => onOpen(one.id)}
              >
                {one.name}
              </button>
              <div className="hint">{text.models[one.model]}</div>
            </td>
            <td>
              {text.types[one.destination.type]}
              <div className="hint mono">{describeDestination(one)}</div>
            </td>
            <td data-label={text.columns.every}>{text.every[one.interval]}</td>
            <td data-label={text.columns.state}>
              <StatePill state={toExportState(one)} />
            </td>
            <td data-label={text.columns.last}>
              <LastRun run={one.latest_runs[0]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LastRun({ run }: { run: Run | undefined }) {
  const { timezone } = useProject();
  if (run === undefined) return <span className="quiet">{text.noRun}</span>;
  const at = run.finished_at ?? run.created_at;
  return (
    <>
      <time dateTime={at} title={formatMinute(at, timezone)}>
        {formatAgo(at)}
      </time>
      {run.status === 'Completed' && <div className="hint">{text.rows(run.records_completed ?? 0)}</div>}
    </>
  );
}
