import { act, createElement, type ReactNode, StrictMode } from 'react';
import { createRoot, type RootOptions } from 'react-dom/client';

export interface Mounted {
  element: HTMLElement;
  render(node: ReactNode): void;
  unmount(): void;
  warnings: string[];
}

/** Renders into a new element of the page, and returns after all effects have run. */
export function mount(
  node: ReactNode,
  { isStrict = false, ...options }: RootOptions & { isStrict?: boolean } = {},
): Mounted {
  const element = document.body.appendChild(document.createElement('main'));
  const root = createRoot(element, options);
  const warnings: string[] = [];
  console.warn = (...what: unknown[]) => void warnings.push(what.map(String).join(' '));
  const render = (next: ReactNode) => act(() => root.render(isStrict ? createElement(StrictMode, null, next) : next));
  render(node);
  return {
    element,
    warnings,
    render,
    unmount() {
      act(() => root.unmount());
      element.remove();
    },
  };
}
