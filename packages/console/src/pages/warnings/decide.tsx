// A dialog for replaying or discarding the selected dead letters.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { explainError } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { type Decision, formatDeadLetterId } from './dead-letter.ts';
import { text as ofPage } from './words.ts';

const text = ofPage.deadLetters;

interface Outcome {
  done: number;
  skipped: { id: string; why: string }[];
}

/** Maximum number of dead letters that the API accepts per request. */
const partSize = 100;

/** A dialog that asks for confirmation, replays or discards dead letters in batches, and then shows the result. */
export function DeadLetterDialog({
  decision: { verb, ids },
  onClose,
  onDone,
}: {
  decision: Decision;
  onClose: () => void;
  onDone: () => void;
}) {
  const { id: project } = useProject();
  const [worked, setWorked] = useState(0);
  const decide = useMutation({
    mutationFn: async () => {
      const outcome: Outcome = { done: 0, skipped: [] };
      for (let start = 0; start < ids.length; start += partSize) {
        const part = ids.slice(start, start + partSize);
        const { replayed, discarded, skipped } = await call<{
          replayed?: number;
          discarded?: number;
          skipped?: Outcome['skipped'];
        }>({ method: 'POST', path: `/api/projects/${project}/dead_letters/${verb}`, body: { ids: part } });
        outcome.done += replayed ?? discarded ?? 0;
        outcome.skipped.push(...(skipped ?? []));
        setWorked(start + part.length);
      }
      return outcome;
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['warnings', project] }),
    onSuccess: onDone,
  });
  const ask = text.ask[verb];
  if (decide.data) {
    return (
      <Dialog title={text.done[verb](decide.data.done)} onClose={onClose}>
        <Skipped outcome={decide.data} all={ids.length} />
        <div className="form-buttons">
          <Button look="main" onPress={onClose}>
            {words.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={ask.title(ids.length)} {...(!decide.isPending && { onClose })}>
      <p>{ask.text}</p>
      <p className="quiet">{text.recorded}</p>
      <p className={decide.error ? 'bad' : 'quiet'} role={decide.error ? 'alert' : 'status'}>
        {decide.error ? explainError(decide.error) : decide.isPending ? text.working(worked, ids.length) : null}
      </p>
      <div className="form-buttons">
        <Button
          look={verb === 'replay' ? 'main' : 'danger'}
          isDisabled={decide.isPending}
          onPress={() => decide.mutate()}
        >
          {ask.verb(ids.length)}
        </Button>
        <Button isDisabled={decide.isPending} onPress={onClose}>
          {words.cancel}
        </Button>
      </div>
    </Dialog>
  );
}

const maxShown = 20;

function Skipped({ outcome: { done, skipped }, all }: { outcome: Outcome; all: number }) {
  const count = all - done;
  if (count === 0) return null;
  return (
    <>
      <p>{text.skipped(count)}</p>
      <ul className="dead-letters-skipped">
        {skipped.length === 0 && <li className="quiet">{text.notWaiting}</li>}
        {skipped.slice(0, maxShown).map(({ id, why }) => (
          <li key={id}>
            <span className="mono">{formatDeadLetterId(id)}</span> <span className="quiet">{why}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
