// The dialogs for the filters, the name and the deletion of a dashboard.

import { useState } from 'react';
import type { ApiCall } from '../../api/request.ts';
import { parseRangeKey } from '../../filters/date-range.tsx';
import { FilterList } from '../../filters/filter-list.tsx';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { useRecordChange } from '../../records/change.ts';
import { type Details, DetailsFields } from '../../records/details.tsx';
import { words } from '../../words.ts';
import type { Dashboard, DashboardFilters } from './shapes.ts';
import { text } from './words.ts';

/**
 * A dialog for filters that apply to all insights on the dashboard. Users can apply the filters to their own view, or
 * save them for all users together with the date range.
 */
export function FiltersDialog({
  path,
  saved,
  time,
  shown,
  onShow,
  onSaved,
  onClose,
}: {
  path: string;
  saved: DashboardFilters;
  time: string;
  shown: readonly unknown[];
  /** Sets the filters of the user's own view. Null restores the saved filters. */
  onShow: (filters: readonly unknown[] | null) => void;
  onSaved: () => void;
  onClose: () => void;
}) {
  const [filters, setFilters] = useState(shown);
  const keep = useRecordChange(onSaved);
  const request: ApiCall = {
    method: 'PATCH',
    path,
    body: {
      filters: { ...saved, properties: filters, ...(time !== '' && { date_to: null, ...parseRangeKey(time) }) },
    },
  };
  return (
    <Dialog title={text.filtersTitle} onClose={onClose}>
      <p className="quiet">{text.filtersText}</p>
      <div className="form">
        <FilterList filters={filters} onFilters={(next) => setFilters(next ?? [])} />
      </div>
      <FormProblem problem={keep.error} fields={[]} />
      {time !== '' && <p className="hint">{text.keepText}</p>}
      <div className="form-buttons">
        <Button look="main" onPress={() => onShow(filters)}>
          {text.show}
        </Button>
        <Button isDisabled={keep.isPending} onPress={() => keep.mutate(request)}>
          {text.keep}
        </Button>
        <AsApiCallButton request={request} />
        <Button onPress={() => onShow(null)}>{text.asStored}</Button>
      </div>
    </Dialog>
  );
}

export function DetailsDialog({
  dashboard,
  path,
  onClose,
}: {
  dashboard: Dashboard;
  path: string;
  onClose: () => void;
}) {
  const { name, description, tags } = dashboard;
  const [details, setDetails] = useState<Details>({ name: name ?? '', description, tags });
  const change = useRecordChange(onClose);
  return (
    <RequestDialog
      title={text.rename}
      submit={text.save}
      request={{ method: 'PATCH', path, body: details }}
      change={change}
      fields={['name', 'description']}
      isComplete={details.name.trim() !== ''}
      onClose={onClose}
    >
      <DetailsFields details={details} longestDescription={1000} problem={change.error} onDetails={setDetails} />
    </RequestDialog>
  );
}

export function RemoveDialog({
  name,
  request,
  onRemoved,
  onClose,
}: {
  name: string;
  request: ApiCall;
  onRemoved: () => void;
  onClose: () => void;
}) {
  const remove = useRecordChange(onRemoved);
  return (
    <Dialog title={text.removeTitle(name)} onClose={onClose}>
      <p className="quiet">{text.removeText}</p>
      <FormProblem problem={remove.error} fields={[]} />
      <div className="form-buttons">
        <Button look="danger" isDisabled={remove.isPending} onPress={() => remove.mutate(request)}>
          {text.remove}
        </Button>
        <AsApiCallButton request={request} />
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
