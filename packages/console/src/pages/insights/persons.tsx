import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { fieldsOf, isFields } from '../../answers/question.ts';
import { call } from '../../api/request.ts';
import { nameOf } from '../../event-detail/event-detail.tsx';
import { visible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { type Answer, questionCall } from './view.ts';
import { text } from './words.ts';

const mostShown = 100;

interface ShownActor {
  id: string;
  properties?: Record<string, unknown>;
  distinct_ids?: string[];
}

/** Who is behind a number. @param point JSON of a `Point`, as it stands in the address */
export function PersonsDialog({ point, onClose }: { point: string; onClose: () => void }) {
  const { id } = useProject();
  const { name, source } = readPoint(point);
  const request = questionCall(id, {
    ...{ kind: 'ActorsQuery', source, select: ['person', 'id'], limit: mostShown },
  });
  const query = useQuery({
    queryKey: ['answer', id, 'persons', point],
    queryFn: ({ signal }) => call<Answer>(request, signal),
  });
  return (
    <Dialog title={visible(name)} onClose={onClose}>
      <Loaded query={query} what={text.persons}>
        {({ results, hasMore }) => {
          const actors = (results as [ShownActor, string][]).map(([actor]) => actor);
          if (actors.length === 0) return <p className="quiet">{text.personsNone}</p>;
          return (
            <>
              <ul className="insight-persons">
                {actors.map((actor) => (
                  <li key={actor.id}>
                    <Link to={`/projects/${id}/persons`} search={{ person: actor.id } as never}>
                      {visible(nameOf(actor.properties ?? {}) || (actor.distinct_ids?.[0] ?? actor.id))}
                    </Link>
                  </li>
                ))}
              </ul>
              {hasMore && <p className="hint">{text.personsMore(mostShown)}</p>}
            </>
          );
        }}
      </Loaded>
      <div className="form-buttons">
        <AsApiCallButton request={request} />
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </Dialog>
  );
}

function readPoint(json: string): { name: string; source: object } {
  try {
    const { name, source } = fieldsOf(JSON.parse(json));
    return { name: typeof name === 'string' ? name : text.persons, source: isFields(source) ? source : {} };
  } catch {
    return { name: text.persons, source: {} };
  }
}
