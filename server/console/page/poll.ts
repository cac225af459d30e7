/**
 * Calls a function immediately, and again after an interval, while the page is visible.
 *
 * @param look resolves to false to end the polling
 * @returns a function that ends the polling
 */
export function pollWhileVisible(look: () => Promise<boolean>, intervalMs: number): () => void {
  let ended = false;
  let timer = 0;
  const poll = async () => {
    if (!(await look())) ended = true;
    schedule();
  };
  const schedule = () => {
    clearTimeout(timer);
    if (!ended && document.visibilityState === 'visible') timer = setTimeout(poll, intervalMs);
  };
  document.addEventListener('visibilitychange', schedule);
  void poll();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', schedule);
  };
}
