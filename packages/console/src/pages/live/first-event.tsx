import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { call, ingestAddress } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { explain } from '../../parts/states.tsx';
import { curlOfFirst, snippets } from './snippets.ts';
import { text } from './words.ts';

/** Instead of an empty list: how the first event gets here, with everything filled in. */
export function FirstEvent() {
  return (
    <div className="first panel">
      <section className="first-snippet">
        <p className="first-waiting" role="status">
          <span className="first-dot" />
          <span>
            <strong>{text.waiting}</strong>
            <br />
            <span className="quiet">{text.waitingText}</span>
          </span>
        </p>
        <SnippetChoice />
      </section>
      <aside className="first-now">
        <TestEvent />
        <h2>{text.nothingTitle}</h2>
        <p className="quiet">{text.nothing}</p>
      </aside>
    </div>
  );
}

function SnippetChoice() {
  const { api_token: key } = useProject();
  const [chosen, setChosen] = useState(snippets[0]);
  const id = useId();
  const code = chosen?.code(key, ingestAddress()) ?? '';
  return (
    <>
      <h2>{text.snippetTitle}</h2>
      <p className="quiet">{text.snippetText}</p>
      <fieldset className="first-libraries">
        <legend className="only-heard">{text.library}</legend>
        {snippets.map((snippet) => (
          <label key={snippet.name} className="first-library">
            <input type="radio" name={id} checked={snippet === chosen} onChange={() => setChosen(snippet)} />
            <span>{snippet.name}</span>
          </label>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre className="code" tabIndex={0}>
        {code}
      </pre>
      <div className="form-buttons">
        <CopyButton text={code} />
      </div>
    </>
  );
}

function TestEvent() {
  const { id, api_token: key } = useProject();
  const send = useMutation({
    mutationFn: () => call({ method: 'POST', path: `/api/projects/${id}/test_event`, body: {} }),
  });
  const command = curlOfFirst(key, ingestAddress());
  return (
    <>
      <h2>{text.sendTitle}</h2>
      <p className="quiet">{text.fromTerminal}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre className="code first-curl" tabIndex={0}>
        {command}
      </pre>
      <div className="form-buttons">
        <CopyButton text={command} />
      </div>
      <p className="quiet">{text.orWithout}</p>
      <div className="form-buttons">
        <Button look="main" onPress={() => send.mutate()} isDisabled={send.isPending}>
          {text.sendTest}
        </Button>
      </div>
      <p role="status" className={send.error ? 'bad' : 'quiet'}>
        {send.error ? explain(send.error) : send.isSuccess ? text.testSent : ''}
      </p>
    </>
  );
}
