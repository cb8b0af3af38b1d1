import type { Answer, Core } from '../client/core.ts';
import { questionOf } from './flag-input.ts';

/** Changes of one moment (identify with groups and properties) become one request. */
const debounceMs = 5;
const retryDelayMs = 500;

export interface FlagRequest {
  /** Unless something else has already asked. */
  begin(): void;
  /** Soon, and after the request under way if there is one. */
  reload(): void;
  /** The same, unless it would ask what was just answered. */
  reloadIfChanged(): void;
  /** The next question tells who the visitor was, so that flags that keep their value for a person do. */
  tellFormerId(distinctId: string | undefined): void;
}

/** Asks the service for flags. A failure is an answer too; nothing is thrown. */
export function createFlagRequest(core: Core, receive: (answer: Answer) => void): FlagRequest {
  const { options, sender, url, distinctId } = core;
  let isWaiting = false;
  let isAsked = false;
  let isUnderWay = false;
  let isWantedAgain = false;
  let isForced = false;
  let answered = '';
  let formerId: string | undefined;

  function reload(): void {
    isForced = true;
    reloadIfChanged();
  }

  function reloadIfChanged(): void {
    if (options.advanced_disable_flags || options.advanced_disable_feature_flags) return;
    if (isUnderWay) isWantedAgain = true;
    else if (!isWaiting) setTimeout(ask, debounceMs);
    isWaiting = !isUnderWay;
  }

  async function ask(): Promise<void> {
    isWaiting = false;
    const question = questionOf(core);
    const text = JSON.stringify(question);
    if (!isForced && text === answered) return;
    isForced = false;
    isAsked = isUnderWay = true;
    const body = { ...question, $anon_distinct_id: formerId };
    const answer = await send(body, options.feature_flag_request_max_retries);
    isUnderWay = false;
    if (answer.status === 200) answered = text;
    if (answer.status === 200 && body.$anon_distinct_id === formerId) formerId = undefined;
    // An answer for who the visitor was before says nothing of who they are now.
    if (body.distinct_id === distinctId()) receive(answer);
    else isForced = isWantedAgain = true;
    if (isWantedAgain) {
      isWantedAgain = false;
      reloadIfChanged();
    }
  }

  async function send(body: object, retries: number): Promise<Answer> {
    const answer = await sender.request(url('/flags/?v=2', 'flags'), {
      method: 'POST',
      body: { ...body, sent_at: new Date().toISOString() },
      timeoutMs: options.feature_flag_request_timeout_ms,
    });
    if (retries < 1 || (answer.status !== 502 && answer.status !== 504)) return answer;
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    return send(body, retries - 1);
  }

  return {
    begin() {
      if (!isAsked) reload();
    },
    reload,
    reloadIfChanged,
    tellFormerId(distinctId) {
      formerId = distinctId;
    },
  };
}
