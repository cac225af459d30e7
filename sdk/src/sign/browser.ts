// Bundlers for browsers take this module, and fail because they cannot resolve what it imports. `null` in `exports`
// does not stop all of them: Vite 8 took the next condition. Their error shows the words.
// @ts-expect-error: it does not exist.
import 'Import @image-delivery/sdk/sign on your server only, because a page would publish the secret. Give the page signed URLs';
