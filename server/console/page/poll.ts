/**
 * Calls a function at once and again after each call, while the page is visible.
 *
 * @param look resolves to false at the end
 * @returns stops it
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
