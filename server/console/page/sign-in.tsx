import { useState } from 'preact/hooks';
import { FailureNotice } from './notice.tsx';
import { focusMain } from './place.ts';
import type { Session } from './session.ts';

/** Asks for an API key. */
export function SignIn({ session }: { readonly session: Session }) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const valid = await session.signIn(key.trim());
    if (valid) return focusMain();
    setBusy(false);
  };
  return (
    <section class="card narrow">
      <h1>Sign in</h1>
      <p>
        Projects are managed with an API key. The first start of the service has printed one;{' '}
        <code>npm run admin -- keys create</code> makes more, also for one project or for reading
        only.
      </p>
      <form onSubmit={submit}>
        <div class="field">
          <label for="key">API key</label>
          <input
            id="key"
            type="password"
            value={key}
            required
            autocomplete="off"
            spellcheck={false}
            aria-describedby="key-help"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <p class="help" id="key-help">
            It stays in this tab, and is sent to this service only. Closing the tab or signing out
            removes it.
          </p>
        </div>
        <FailureNotice failure={session.failure} />
        <button type="submit" class="primary" disabled={busy || key.trim() === ''}>
          {busy ? 'Checking…' : 'Sign in'}
        </button>
      </form>
    </section>
  );
}
