// A tab of a browser that is driven by WebDriver's commands, over whatever they are carried by.

export interface Driver {
  /** @throws Error with the browser's words */
  send<Result>(command: string, parameters?: object): Promise<Result>;
  close(): void;
}

/** A tab of the one visitor; each call brings it to the front. */
export interface Tab {
  goto(address: string): Promise<void>;
  /** Runs the body of a function in the page, and waits for what it returns. */
  run<Result>(body: string): Promise<Result>;
  /** As a person does, by the mouse. */
  click(selector: string): Promise<void>;
  /** As a person does, by the keyboard. */
  type(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export interface DrivenBrowser {
  openTab(address: string): Promise<Tab>;
  close(): Promise<void>;
}

/** What WebDriver calls elements by. */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** @param first handle of the window that is there from the beginning */
export async function openTab(driver: Driver, first: string | undefined, address: string): Promise<Tab> {
  // The one before may be closed.
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
