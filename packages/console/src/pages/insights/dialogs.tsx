import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import type { ApiCall } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { explainError } from '../../parts/states.tsx';
import { useRecordChange } from '../../records/change.ts';
import { type Details, DetailsFields } from '../../records/details.tsx';
import { words } from '../../words.ts';
import type { Insight } from './view.ts';
import { text } from './words.ts';

/** A dialog that saves a query as a new insight, or changes a saved insight's name, description and tags. */
export function SaveDialog({
  stored,
  copied = null,
  query,
  suggestion = '',
  onSaved,
  onClose,
}: {
  stored: Insight | null;
  copied?: Insight | null;
  query: unknown;
  suggestion?: string;
  onSaved: (insight: Insight) => void;
  onClose: () => void;
}) {
  const { id } = useProject();
  const start = stored ?? copied;
  const [details, setDetails] = useState<Details>({
    name: start?.name || suggestion,
    description: start?.description ?? '',
    tags: start?.tags ?? [],
  });
  const base = `/api/projects/${id}/insights`;
  const request: ApiCall =
    stored === null
      ? { method: 'POST', path: base, body: { ...details, query, saved: true } }
      : { method: 'PATCH', path: `${base}/${stored.id}`, body: details };
  const save = useRecordChange<Insight>((saved) => {
    queryClient.setQueryData(['insights', id, 'one', saved.short_id], saved);
    onSaved(saved);
  });
  return (
    <RequestDialog
      title={stored === null ? text.saveTitle : text.renameTitle}
      submit={text.save}
      request={request}
      change={save}
      fields={['name', 'description']}
      isComplete={details.name.trim() !== ''}
      onClose={onClose}
    >
      <DetailsFields
        details={details}
        suggestion={suggestion}
        longestDescription={400}
        problem={save.error}
        onDetails={setDetails}
      />
    </RequestDialog>
  );
}

export function RemoveDialog({
  stored,
  onRemoved,
  onClose,
}: {
  stored: Insight;
  onRemoved: () => void;
  onClose: () => void;
}) {
  const { id } = useProject();
  const request = {
    method: 'PATCH',
    path: `/api/projects/${id}/insights/${stored.id}`,
    body: { deleted: true },
  } as const;
  const remove = useRecordChange(onRemoved);
  return (
    <Dialog title={text.removeTitle} onClose={onClose}>
      <p className="quiet">{text.removeText}</p>
      {remove.error && (
        <p className="bad" role="alert">
          {explainError(remove.error)}
        </p>
      )}
      <div className="form-buttons">
        <Button look="danger" isDisabled={remove.isPending} onPress={() => remove.mutate(request)}>
          {text.removeDo}
        </Button>
        <AsApiCallButton request={request} />
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
