# cmake -DINPUT=file -DOUTPUT=file.cpp -P embed.cmake: writes INPUT's bytes as kapitsa::hub::kCatalogueJson.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT}
  "// Generated from models.json.\n#include \"hub/catalogue_data.h\"\n\nnamespace kapitsa::hub {\n"
  "namespace {\nconst unsigned char kBytes[] = {${bytes}};\n}\n"
  "const std::string_view kCatalogueJson(reinterpret_cast<const char*>(kBytes), sizeof kBytes);\n"
  "}  // namespace kapitsa::hub\n")
