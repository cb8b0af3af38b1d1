import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { call, getIngestUrl } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { explainError } from '../parts/states.tsx';
import { formatFirstEventCommand, type Snippet, snippets as sendingSnippets } from './snippets.ts';
import { text } from './words.ts';
import './sending.css';

/**
 * Shows code for sending events with several SDKs, including the project's API key and host.
 * @param snippets the code to show; by default, code for sending events
 */
export function SnippetChoice({ snippets = sendingSnippets }: { snippets?: readonly Snippet[] }) {
  const { api_token: key } = useProject();
  const [name, setName] = useState(snippets[0]?.name);
  const chosen = snippets.find((one) => one.name === name);
  const id = useId();
  const code = chosen?.code(key, getIngestUrl()) ?? '';
  return (
    <>
      <fieldset className="libraries">
        <legend className="only-heard">{text.library}</legend>
        {snippets.map((snippet) => (
          <label key={snippet.name} className="library">
            <input type="radio" name={id} checked={snippet === chosen} onChange={() => setName(snippet.name)} />
            <span translate="no">{snippet.name}</span>
          </label>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre className="code" tabIndex={0}>
        {code}
      </pre>
      <div className="form-buttons">
        <CopyButton text={code} />
      </div>
    </>
  );
}

export function TestEvent({ look }: { look?: 'main' }) {
  const { id, api_token: key } = useProject();
  const send = useMutation({
    mutationFn: () => call({ method: 'POST', path: `/api/projects/${id}/test_event`, body: {} }),
  });
  const command = formatFirstEventCommand(key, getIngestUrl());
  return (
    <>
      <p className="quiet">{text.fromTerminal}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre className="code" tabIndex={0}>
        {command}
      </pre>
      <div className="form-buttons">
        <CopyButton text={command} />
      </div>
      <p className="quiet">{text.orWithout}</p>
      <div className="form-buttons">
        <Button look={look} onPress={() => send.mutate()} isDisabled={send.isPending}>
          {text.sendTest}
        </Button>
      </div>
      <p role="status" className={send.error ? 'bad' : 'quiet'}>
        {send.error ? explainError(send.error) : send.isSuccess ? text.testSent : ''}
      </p>
    </>
  );
}
