import type { Page } from 'playwright-core';
import { until } from '../until.ts';

/**
 * Acts as a user of a page with only a keyboard. Names elements by role and accessible name:
 * `button "Save"`.
 */
export interface Keyboard {
  readonly press: (key: string) => Promise<void>;
  readonly type: (text: string) => Promise<void>;
  /** Waits until an element receives the focus. */
  readonly hasFocus: (name: string) => Promise<void>;
  /**
   * Presses Tab until an element receives the focus. Rejects after `most` times and names the
   * focused element.
   */
  readonly tabTo: (name: string, most: number) => Promise<void>;
  /** Does the same with Shift+Tab. */
  readonly tabBackTo: (name: string, most: number) => Promise<void>;
  /**
   * Returns the elements that were focused just before the focus disappeared, since the last call.
   */
  readonly losses: () => Promise<readonly string[]>;
}

/**
 * Collects in the page when the focus disappears from an element. Ignores gaps shorter than two
 * frames, such as between removing an element and rendering the next, because users do not notice
 * them.
 */
const watch = `
  globalThis.focusLosses = [];
  let last = null;
  let frames = 0;
  const look = () => {
    const { activeElement, body } = document;
    if (activeElement !== null && activeElement !== body) {
      last = activeElement;
      frames = 0;
    } else if (last !== null) {
      frames += 1;
      if (frames === 2) focusLosses.push(last.outerHTML.slice(0, 200));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
`;

/** Resolves in the page when it could notice a loss. */
export const someFrames = `new Promise((resolve) => {
  let left = 4;
  const wait = () => (left-- === 0 ? resolve() : requestAnimationFrame(wait));
  wait();
})`;

/** Returns the focused element's role and accessible name. */
async function findFocus(page: Page): Promise<string> {
  const element = page.locator(':focus');
  if ((await element.count()) === 0) return 'nothing';
  const [line = ''] = (await element.ariaSnapshot()).split('\n');
  return /^- (\w+(?: "(?:[^"\\]|\\.)*")?)/.exec(line)?.[1] ?? line;
}

/** @param page a page that is not open yet */
export async function describeKeyboard(page: Page): Promise<Keyboard> {
  await page.addInitScript(watch);
  const { keyboard } = page;
  const move = (key: string) => async (name: string, most: number) => {
    const passed: string[] = [];
    while (passed.at(-1) !== name) {
      if (passed.length === most) {
        throw new Error(`${most} times ${key} do not lead to ${name}, but to ${passed.join(', ')}`);
      }
      await keyboard.press(key);
      passed.push(await findFocus(page));
    }
  };
  return {
    press: (key) => keyboard.press(key),
    type: (text) => keyboard.type(text),
    tabTo: move('Tab'),
    tabBackTo: move('Shift+Tab'),
    losses: () => page.evaluate('focusLosses.splice(0)'),
    async hasFocus(name) {
      let last = '';
      const look = async () => {
        last = await findFocus(page);
        return last === name;
      };
      await until(`the focus on ${name}`, look).catch((error) => {
        throw new Error(`${error.message}, but on ${last}`);
      });
    },
  };
}
