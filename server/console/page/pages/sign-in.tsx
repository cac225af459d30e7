import { useState } from 'preact/hooks';
import { launchCommand } from '../api/page-data.ts';
import type { Session } from '../api/session.ts';
import { ActionForm } from '../components/action-form.tsx';
import { TextField } from '../components/fields.tsx';
import { FailureNotice } from '../components/notice.tsx';
import { Title } from '../components/page-section.tsx';
import { moveFocus } from '../route.ts';

export function SignIn({ session }: { readonly session: Session }) {
  const [key, setKey] = useState('');
  const signIn = async () => {
    await session.signIn(key.trim());
    moveFocus('main');
    return '';
  };
  return (
    <section class="card narrow">
      <Title text="Sign in" />
      <p>
        An API key manages projects. The service printed a key when it first started;{' '}
        <code>{launchCommand('admin', 'npm run admin --')} keys create --help</code> explains how to
        create more, also for a single project or read-only.
      </p>
      <FailureNotice failure={session.failure} />
      <ActionForm label="Sign in" submit="Sign in" onSubmit={signIn} disabled={key.trim() === ''}>
        {() => (
          <TextField
            label="API key"
            type="password"
            value={key}
            onChange={setKey}
            required
            help="It stays in this tab, and is sent to this service only. Closing the tab or signing out removes it. Example: sk_…"
          />
        )}
      </ActionForm>
    </section>
  );
}
