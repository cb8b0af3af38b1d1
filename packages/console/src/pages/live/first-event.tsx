import { SnippetChoice, TestEvent } from '../../sending/sending.tsx';
import { text } from './words.ts';

/** Shown instead of an empty list. Explains how to send the first event with the project's API key and host. */
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
        <h2>{text.snippetTitle}</h2>
        <p className="quiet">{text.snippetText}</p>
        <SnippetChoice />
      </section>
      <aside className="first-now">
        <h2>{text.sendTitle}</h2>
        <TestEvent look="main" />
        <h2>{text.nothingTitle}</h2>
        <p className="quiet">{text.nothing}</p>
      </aside>
    </div>
  );
}
