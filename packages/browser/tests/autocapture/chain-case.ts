import type { Captured, Step } from '../support/start-comparison.ts';

/**
 * HTML, and a visitor's actions on the page. Unless `isNothing` or `otherwise` is set, this library must capture
 * exactly the same events as posthog-js.
 */
export interface ChainCase extends Step {
  of: string;
  isNothing?: true;
  /**
   * Set if this library intentionally captures different events than posthog-js. Contains the reason and the captured
   * events.
   */
  otherwise?: { because: string; events: Captured | ((events: Captured) => void) };
}

export const click = (selector: string) => `at('${selector}').click()`;
export const change = (selector: string) => `at('${selector}').dispatchEvent(new Event('change', { bubbles: true }))`;
export const repeatText = (count: number, unit = 'x') => unit.repeat(count);
