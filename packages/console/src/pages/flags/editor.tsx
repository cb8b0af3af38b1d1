// The form for creating or changing a feature flag.

import { useMutation } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { ApiProblem, call } from '../../api/request.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { FlagFields } from './fields.tsx';
import { createDraft, type Draft, type Flag, findChanges, newFlag, type StoredDraft, toFlagFields } from './flag.ts';
import { useFlagSuggestions } from './flag-suggestions.ts';
import { findDifferences, formatLines } from './history.tsx';
import { updateCachedFlag } from './list.tsx';
import { text } from './words.ts';

const { form } = text;

/** A form for editing a flag. The page keeps unsaved edits until the user saves or discards them. */
export function FlagEditor({
  flag,
  savedDraft,
  onKeep,
  onSaved,
}: {
  flag: Flag;
  savedDraft: StoredDraft | undefined;
  onKeep: (savedDraft: StoredDraft | null) => void;
  onSaved: () => void;
}) {
  const { id: projectId } = useProject();
  const mayEdit = useHasLevel(1) && flag.can_edit;
  const unchanged = useMemo(() => createDraft(flag), [flag]);
  const draft = savedDraft?.draft ?? unchanged;
  const base = savedDraft?.base ?? flag;
  const changes = findChanges(draft, base);
  const path = `/api/projects/${projectId}/feature_flags/${flag.id}`;
  const [theirs, setTheirs] = useState<Flag | null>(null);
  const save = useMutation({
    mutationFn: (from: Flag) =>
      call<Flag>({ method: 'PATCH', path, body: { ...changes, version: from.version, original_flag: from } }),
    onSuccess: async (now) => {
      setTheirs(null);
      onKeep(null);
      onSaved();
      updateCachedFlag(projectId, now);
      await queryClient.invalidateQueries({ queryKey: ['flags', projectId] });
    },
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.status !== 409) return;
      const now = await call<Flag>({ path });
      setTheirs(now);
      updateCachedFlag(projectId, now);
    },
  });
  const edit = (next: Draft) => {
    if (save.isSuccess) save.reset();
    const isChanged = Object.keys(findChanges(next, base)).length > 0;
    onKeep(isChanged ? { draft: next, base } : null);
  };
  /** Bases the form on a newer version of the flag. @param next the edits to keep, or null to discard all edits */
  const startFrom = (now: Flag, next: Draft | null) => {
    setTheirs(null);
    save.reset();
    onKeep(next === null ? null : { draft: next, base: now });
  };
  const count = Object.keys(changes).length;
  const own = useProblemInSight(theirs ?? save.error);
  return (
    <form
      ref={own}
      className="flag-form"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(base);
      }}
    >
      <fieldset className="flag-fields" disabled={!mayEdit}>
        {!mayEdit && <p className="warn">{text.mayNotEdit}</p>}
        {theirs && (
          <Conflict
            base={base}
            theirs={theirs}
            changes={changes}
            onKeepMine={() => save.mutate(theirs)}
            onMerge={() => startFrom(theirs, draft)}
            onTakeTheirs={() => startFrom(theirs, null)}
          />
        )}
        <FlagFields
          draft={draft}
          error={theirs ? null : save.error}
          onChange={edit}
          isNew={false}
          keyBefore={flag.key}
        />
        <SdkWarnings warnings={flag.sdk_warnings} />
      </fieldset>
      {mayEdit && (
        <div className="flag-save">
          <Button type="submit" look="main" isDisabled={count === 0 || save.isPending || theirs !== null}>
            {form.save}
          </Button>
          {count > 0 && <Button onPress={() => startFrom(flag, null)}>{form.discard}</Button>}
          <span role="status" className={save.isSuccess && count === 0 ? 'good' : 'quiet'}>
            {count > 0 ? form.changedFields(count) : save.isSuccess ? form.saved : form.noChanges}
          </span>
        </div>
      )}
    </form>
  );
}

export function NewFlagEditor({
  savedDraft,
  onKeep,
  onDiscard,
  onCreated,
}: {
  savedDraft: StoredDraft | undefined;
  onKeep: (savedDraft: StoredDraft | null) => void;
  onDiscard: () => void;
  onCreated: (flag: Flag) => void;
}) {
  const { id: projectId } = useProject();
  const mayEdit = useHasLevel(1);
  const [empty] = useState(() => createDraft(newFlag));
  const [startsOff, setStartsOff] = useState(false);
  const draft = savedDraft?.draft ?? empty;
  const create = useMutation({
    mutationFn: () =>
      call<Flag>({
        method: 'POST',
        path: `/api/projects/${projectId}/feature_flags`,
        body: { ...toFlagFields(draft, {}), active: !startsOff },
      }),
    onSuccess: async (flag) => {
      await queryClient.invalidateQueries({ queryKey: ['flags', projectId] });
      onCreated(flag);
    },
  });
  const own = useProblemInSight(create.error);
  return (
    <form
      ref={own}
      className="flag-form"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <fieldset className="flag-fields" disabled={!mayEdit}>
        {!mayEdit && <p className="warn">{text.mayNotEdit}</p>}
        <FlagFields
          draft={draft}
          error={create.error}
          onChange={(next) => onKeep({ draft: next, base: null })}
          isNew
          keyBefore=""
        >
          <label className="flag-check">
            <input type="checkbox" checked={startsOff} onChange={(event) => setStartsOff(event.target.checked)} />
            {form.startOff}
          </label>
        </FlagFields>
      </fieldset>
      <div className="flag-save">
        <Button type="submit" look="main" isDisabled={!mayEdit || create.isPending}>
          {form.create}
        </Button>
        <Button
          onPress={() => {
            onKeep(null);
            onDiscard();
          }}
        >
          {form.discard}
        </Button>
      </div>
    </form>
  );
}

/** Scrolls to the field that caused the server error. */
function useProblemInSight(problem: unknown) {
  const own = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problem) own.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'center' });
  }, [problem]);
  return own;
}

function SdkWarnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <details className="flag-part">
      <summary>{form.sdkWarnings}</summary>
      <ul className="flag-warnings">
        {warnings.map((warning) => (
          <li key={warning} className="quiet">
            {warning}
          </li>
        ))}
      </ul>
    </details>
  );
}

/**
 * Shown if another user has changed the flag in the meantime. Compares both versions, and keeps the current user's
 * edits.
 */
function Conflict({
  base,
  theirs,
  changes,
  onKeepMine,
  onMerge,
  onTakeTheirs,
}: {
  base: Flag;
  theirs: Flag;
  changes: Record<string, unknown>;
  onKeepMine: () => void;
  onMerge: () => void;
  onTakeTheirs: () => void;
}) {
  const { keyOf } = useFlagSuggestions();
  const who = theirs.last_modified_by;
  const fields = Object.keys(changes).filter(
    (field) => JSON.stringify(changes[field]) !== JSON.stringify(theirs[field as keyof Flag]),
  );
  return (
    <section className="flag-conflict" role="alert">
      <h3>{text.conflict.title(who?.first_name || who?.email || text.deletedUser)}</h3>
      <p className="quiet">{text.conflict.text}</p>
      {fields.map((field) => {
        const lines = (value: unknown) => formatLines(field, value, keyOf);
        const [saved, mine] = findDifferences(lines(theirs[field as keyof Flag]), lines(changes[field]));
        return (
          <div key={field} className="flag-sides">
            <strong>{text.conflict.fields[field] ?? field}</strong>
            <Side title={text.conflict.theirs(theirs.version)} lines={saved} />
            <Side title={text.conflict.mine} lines={mine} />
          </div>
        );
      })}
      <div className="form-buttons">
        <Button onPress={onMerge}>{text.conflict.merge}</Button>
        <Button onPress={onTakeTheirs}>{text.conflict.takeTheirs}</Button>
        <Button look="danger" onPress={onKeepMine}>
          {text.conflict.keepMine}
        </Button>
      </div>
      <p className="hint">{text.conflict.begun(base.version)}</p>
    </section>
  );
}

function Side({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <div>
      <p className="hint">{title}</p>
      {lines.length === 0 ? (
        <p className="quiet">{text.conflict.nothing}</p>
      ) : (
        lines.map((line) => (
          <p key={line} className="flag-line">
            {line}
          </p>
        ))
      )}
    </div>
  );
}
