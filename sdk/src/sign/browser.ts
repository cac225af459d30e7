// Bundlers for browsers take this module, and fail because they cannot resolve what it imports. `null` in `exports`
// does not stop all of them: Vite 8 took the next condition.
// @ts-expect-error: it does not exist.
import '@image-delivery/sdk/sign-is-for-servers-only';
