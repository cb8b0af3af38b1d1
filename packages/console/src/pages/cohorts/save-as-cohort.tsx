// The dialog that saves the listed persons as a new cohort.

import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { words } from '../../words.ts';
import type { Cohort } from './shapes.ts';
import { text } from './words.ts';

/** Maximum number of persons that the API accepts for a new cohort. */
export const maxInCohort = 10_000;

/**
 * A button that saves the listed persons as a static cohort.
 * @param read a function that returns the UUIDs of the first `maxInCohort` listed persons when the user creates the
 * cohort
 */
export function SaveAsCohort({ name: suggested, read }: { name: string; read: () => Promise<string[]> }) {
  const mayWrite = useHasLevel(1);
  const [isOpen, setOpen] = useState(false);
  if (!mayWrite) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>{text.saveAs}</Button>
      {isOpen && <SaveDialog name={suggested} read={read} onClose={() => setOpen(false)} />}
    </>
  );
}

function SaveDialog({
  name: suggested,
  read,
  onClose,
}: {
  name: string;
  read: () => Promise<string[]>;
  onClose: () => void;
}) {
  const { id } = useProject();
  const [name, setName] = useState(suggested.slice(0, 400));
  const save = useMutation({
    mutationFn: async () => {
      const uuids = await read();
      const body = { name, is_static: true, _create_static_person_ids: uuids };
      const cohort = await call<Cohort>({ method: 'POST', path: `/api/projects/${id}/cohorts`, body });
      return { cohort, count: uuids.length };
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['cohorts', id] }),
  });
  if (save.data !== undefined) {
    const { cohort, count } = save.data;
    return (
      <Dialog title={text.saveAs} onClose={onClose}>
        <p role="status">{text.savedAs(escapeInvisible(cohort.name ?? ''), count)}</p>
        {count === maxInCohort && <p className="hint">{text.savedFirst(count)}</p>}
        <div className="form-buttons">
          <Link
            className="button button-main"
            to={`/projects/${id}/cohorts`}
            search={{ cohort: String(cohort.id) } as never}
          >
            {text.openCohort}
          </Link>
          <Button onPress={onClose}>{words.close}</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={text.saveAs} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <p className="quiet">{text.saveAsHint}</p>
        <Field
          name="name"
          label={text.name}
          autoFocus
          maxLength={400}
          value={name}
          problem={save.error}
          onChange={({ target }) => setName(target.value)}
        />
        <FormProblem problem={save.error} fields={['name']} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={save.isPending}>
            {text.create}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
