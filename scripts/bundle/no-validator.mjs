/** Stands in the bundle for what the SDK would load to validate results: the daemon hands it a validator that lets all pass. */
export const CORS_IS_POSSIBLE = false;

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("The SDK's validator is left out of the bundle; see scripts/build.mjs.");
  }
}
