// A connection for controlling browser tabs with WebDriver commands, over any transport.

export interface Driver {
  /** @throws Error with the browser's error message */
  send<Result>(command: string, parameters?: object): Promise<Result>;
  close(): void;
}

/** A browser tab. Each call brings the tab to the front. */
export interface Tab {
  goto(address: string): Promise<void>;
  /** Runs the body of a function in the page, and returns the function's result. */
  run<Result>(body: string): Promise<Result>;
  /** Clicks an element, as a user does with a mouse. */
  click(selector: string): Promise<void>;
  /** Types a string, as a user does with a keyboard. */
  type(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export interface DrivenBrowser {
  openTab(address: string): Promise<Tab>;
  close(): Promise<void>;
}

/** The key of an element reference in WebDriver responses. */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** Opens a page in a new tab. @param first the handle of the initial window */
export async function openTab(driver: Driver, first: string | undefined, address: string): Promise<Tab> {
  // The previous tab may be closed, so switch to the initial window first.
  await driver.send('WebDriver:SwitchToWindow', { handle: first, focus: true });
  const { handle } = await driver.send<{ handle: string }>('WebDriver:NewWindow', { type: 'tab' });
  const inTab = async <Result>(command: string, parameters?: object): Promise<Result> => {
    await driver.send('WebDriver:SwitchToWindow', { handle, focus: true });
    return driver.send<Result>(command, parameters);
  };
  const find = async (selector: string) => {
    const found = { using: 'css selector', value: selector };
    const { value } = await inTab<{ value: Record<string, string> }>('WebDriver:FindElement', found);
    return value[elementKey];
  };
  const tab: Tab = {
    goto: (url) => inTab('WebDriver:Navigate', { url }),
    async run<Result>(script: string) {
      const { value } = await inTab<{ value: Result }>('WebDriver:ExecuteScript', { script, args: [], sandbox: null });
      return value;
    },
    click: async (selector) => driver.send('WebDriver:ElementClick', { id: await find(selector) }),
    type: async (selector, text) => driver.send('WebDriver:ElementSendKeys', { id: await find(selector), text }),
    close: () => inTab('WebDriver:CloseWindow'),
  };
  await tab.goto(address);
  return tab;
}
