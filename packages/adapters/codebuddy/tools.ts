export { claudeStyleTools as codebuddyTools } from "@foldcast/adapter-kit/claude-style-tools";
