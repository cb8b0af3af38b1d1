import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { ValuesInput } from '../../filters/property-filter.tsx';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { formatPropertyName } from '../../parts/properties.ts';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { type Definition, type Kind, toDefinitionsPath } from './shapes.ts';
import { text } from './words.ts';

/** The details of a definition, shown next to the list, and a form for its description, tags and status. */
export function DefinitionDetail({ id, kind, onClose }: { id: string; kind: Kind; onClose: () => void }) {
  const project = useProject();
  const request: ApiCall = { path: `${toDefinitionsPath(project.id, kind)}/${id}` };
  const query = useQuery({
    queryKey: ['definitions', project.id, 'one', request.path],
    queryFn: ({ signal }) => call<Definition>(request, signal),
  });
  const name = query.data?.name;
  const title = name === undefined ? text.one : escapeInvisible(kind === 'events' ? name : formatPropertyName(name));
  return (
    <SidePanel
      title={title}
      onClose={onClose}
      head={
        <div className="detail-head">
          <div className="detail-title">
            <h2>{title}</h2>
            <CloseButton onClose={onClose} />
          </div>
          <div className="form-buttons">
            {kind === 'events' && name !== undefined && (
              <Link className="button" to={`/projects/${project.id}/events`} search={{ event: name } as never}>
                {text.viewEvents}
              </Link>
            )}
            <AsApiCallButton request={request} />
          </div>
        </div>
      }
    >
      <QueryContent query={query} what={text.one}>
        {(definition) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
          <section className="detail-body" tabIndex={0} aria-label={title}>
            <Facts definition={definition} />
            <Edits key={definition.id} definition={definition} path={request.path} />
          </section>
        )}
      </QueryContent>
    </SidePanel>
  );
}

function Facts({ definition }: { definition: Definition }) {
  const { timezone } = useProject();
  const { name, created_at: first, last_seen_at: last, property_type: type } = definition;
  const facts = [
    [text.facts.name, name],
    [text.facts.type, type],
    [text.facts.first, first && formatTime(first, timezone)],
    [text.facts.last, last && formatTime(last, timezone)],
  ] as const;
  return (
    <dl className="facts">
      {facts.map(
        ([label, value]) =>
          value && (
            <div key={label}>
              <dt>{label}</dt>
              <dd className="mono">{escapeInvisible(value)}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Edits({ definition, path }: { definition: Definition; path: string }) {
  const { id: project } = useProject();
  const mayWrite = useHasLevel(1);
  const [edits, setEdits] = useState({
    description: definition.description,
    tags: definition.tags,
    verified: definition.verified,
    hidden: definition.hidden,
  });
  const request: ApiCall = { method: 'PATCH', path, body: edits };
  const save = useMutation({
    mutationFn: () => call<Definition>(request),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['definitions', project] }),
  });
  const change = (changed: Partial<typeof edits>) => {
    save.reset();
    setEdits({ ...edits, ...changed });
  };
  const check = (name: 'verified' | 'hidden', label: string, hint: string) => (
    <label className="definitions-check">
      <input
        type="checkbox"
        checked={edits[name]}
        disabled={!mayWrite}
        // A definition cannot be both `verified` and `hidden`, so choosing one clears the other.
        onChange={({ target }) =>
          change({ ...(target.checked && { verified: false, hidden: false }), [name]: target.checked })
        }
      />
      <span>
        {label}
        <br />
        <span className="hint">{hint}</span>
      </span>
    </label>
  );
  return (
    <form
      className="form definitions-form"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <label className="field">
        <span className="field-label">{text.description}</span>
        <textarea
          className="input"
          rows={4}
          maxLength={10_000}
          value={edits.description}
          disabled={!mayWrite}
          onChange={({ target }) => change({ description: target.value })}
        />
        <span className="hint">{text.descriptionHint}</span>
      </label>
      <div className="field">
        <span className="field-label">{text.tags}</span>
        {mayWrite ? (
          <ValuesInput
            label={text.tags}
            values={edits.tags}
            onChange={(tags) => change({ tags: tags.map((tag) => String(tag)) })}
          />
        ) : (
          <span>{edits.tags.join(', ')}</span>
        )}
      </div>
      {check('verified', text.verify, text.verifyHint)}
      {check('hidden', text.hide, text.hideHint)}
      {mayWrite && (
        <>
          <div className="form-buttons">
            <Button type="submit" look="main" isDisabled={save.isPending}>
              {text.save}
            </Button>
            <AsApiCallButton request={request} about={text.save} />
          </div>
          <FormProblem problem={save.error} fields={[]} />
          <p role="status" className="quiet">
            {save.isSuccess ? text.saved : ''}
          </p>
        </>
      )}
    </form>
  );
}
