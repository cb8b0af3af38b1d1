import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { type ApiCall, call } from '../../../api/request.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { FormProblem, LabelledInput } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatDay } from '../../../parts/time.ts';
import { ConfirmationDialog, SettingsBlock, SuccessMessage } from '../block.tsx';
import { text as shared } from '../words.ts';
import { text } from './words.ts';

interface Limit {
  event_retention_days: number | null;
}
const dayMs = 86_400_000;

/** A form for the event retention period. A shorter period deletes events, so the user must confirm it. */
export function RetentionForm() {
  const { id } = useProject();
  const path = `/api/environments/${id}/event_retention`;
  const queryKey = ['settings', id, 'retention'];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => call<Limit>({ path }, signal) });
  const [draft, setDraft] = useState<Limit | null>(null);
  const save = useMutation({
    mutationFn: (body: Limit) => call<Limit>({ method: 'PATCH', path, body }),
    onSuccess: async (limit) => {
      queryClient.setQueryData(queryKey, limit);
      setDraft(null);
    },
  });
  const request: ApiCall = draft === null ? { path } : { method: 'PATCH', path, body: draft };
  return (
    <SettingsBlock title={text.retention} about={text.retentionText} request={request}>
      <QueryContent query={query} what={text.retention}>
        {(stored) => (
          <LimitForm
            stored={stored}
            limit={draft ?? stored}
            onChange={(limit) => {
              save.reset();
              setDraft(limit);
            }}
            save={save}
          />
        )}
      </QueryContent>
    </SettingsBlock>
  );
}

function LimitForm({
  stored,
  limit: { event_retention_days: days },
  onChange,
  save,
}: {
  stored: Limit;
  limit: Limit;
  onChange: (limit: Limit) => void;
  save: ReturnType<typeof useMutation<Limit, Error, Limit>>;
}) {
  const { timezone } = useProject();
  const mayChange = useHasLevel(8);
  const [isConfirming, setConfirming] = useState(false);
  const before = stored.event_retention_days;
  const isLess = days !== null && (before === null || days < before);
  const choose = (next: number | null) => onChange({ event_retention_days: next });
  return (
    <form
      className="form settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isLess) setConfirming(true);
        else save.mutate({ event_retention_days: days });
      }}
    >
      <fieldset className="settings-fieldset" disabled={!mayChange}>
        <legend className="only-heard">{text.retention}</legend>
        <label className="settings-choice">
          <input type="radio" name="limit" checked={days === null} onChange={() => choose(null)} />
          {text.forever}
        </label>
        <label className="settings-choice">
          <input type="radio" name="limit" checked={days !== null} onChange={() => choose(before ?? 365)} />
          {text.forDays}
        </label>
        {days !== null && (
          <div className="settings-short settings-below">
            <LabelledInput
              label={text.days}
              className="input"
              type="number"
              min={1}
              max={36_500}
              required
              wrong={null}
              value={Number.isNaN(days) ? '' : days}
              onChange={({ target }) => choose(target.valueAsNumber)}
            />
          </div>
        )}
      </fieldset>
      {!mayChange && <p className="hint">{shared.needsAdministrator}</p>}
      <FormProblem problem={save.error} fields={[]} />
      <div className="form-buttons">
        <Button type="submit" isDisabled={!mayChange || save.isPending || days === before}>
          {shared.save}
        </Button>
        {save.isSuccess && <SuccessMessage>{shared.saved}</SuccessMessage>}
      </div>
      {isConfirming && days !== null && (
        <ConfirmationDialog
          title={text.shortenTitle(days)}
          verb={text.shorten}
          onClose={() => setConfirming(false)}
          act={() => save.mutateAsync({ event_retention_days: days })}
        >
          {text.shortenText(formatDay(new Date(Date.now() - days * dayMs).toISOString(), timezone))}
        </ConfirmationDialog>
      )}
    </form>
  );
}
