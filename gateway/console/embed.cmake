# Writes the `files` below `folder` into the source `out`: their names and bytes, as gateway/console/page.hpp declares them.
set(rows "")
set(arrays "")
set(number 0)
list(SORT files)
foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${folder} ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "constexpr unsigned char bytes_${number}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", text_of(bytes_${number}, sizeof bytes_${number} - 1)},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${out} "#include \"gateway/console/page.hpp\"

namespace gateway::console {
namespace {

${arrays}
std::string_view text_of(const unsigned char* bytes, std::size_t size)
{
    return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::span<const embedded_file> embedded_files()
{
    static const std::array<embedded_file, ${number}> all{{
${rows}    }};
    return all;
}

}  // namespace gateway::console
")
